import { Module } from '@nestjs/common';
import { BankModule } from '../bank/bank.module.js';
import { BankSource } from './bank-source.js';

/** Snapshots of the bank's accounts, each in a thread that answers queries about it. */
@Module({
  imports: [BankModule],
  providers: [BankSource],
  exports: [BankSource],
})
export class SnapshotModule {}
