import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { AccountReader } from './account-reader.js';
import { BankDrift } from './bank-drift.js';

/** The bank's interface. No other folder contains its paths, its paging or the shape of its answers. */
@Module({
  imports: [AuthModule],
  providers: [BankDrift, AccountReader],
  exports: [AccountReader, BankDrift],
})
export class BankModule {}
