import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { AccountReader } from './account-reader.js';
import { BankCondition } from './bank-condition.js';
import { BankDrift } from './bank-drift.js';

/** Reads the bank's list, page by page, and knows the bank's condition. The shape of an account is in list/. */
@Module({
  imports: [AuthModule],
  providers: [BankCondition, BankDrift, AccountReader],
  exports: [AccountReader, BankCondition, BankDrift],
})
export class BankModule {}
