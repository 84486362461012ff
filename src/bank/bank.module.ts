import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { AccountReader } from './account-reader.js';
import { BankDrift } from './bank-drift.js';

/** Reads the bank's list, page by page. The shape of an account is in list/. */
@Module({
  imports: [AuthModule],
  providers: [BankDrift, AccountReader],
  exports: [AccountReader, BankDrift],
})
export class BankModule {}
