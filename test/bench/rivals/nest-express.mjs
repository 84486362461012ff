// What one writes in an afternoon: Nest on Express, a controller that returns objects, Nest and Express do the rest (JSON and
// a weak ETag for each answer). In its favour: the accounts are in memory for good, it never asks the bank, has no guard,
// checks nothing and logs nothing. Decorators are applied by hand, since Node runs this file as it is.
// argv: port, file with the answer to give.
import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

const [port, file] = process.argv.slice(2);
const { accounts, page, snapshot } = JSON.parse(readFileSync(file, 'utf8'));

class AccountsController {
  list() {
    return { accounts: accounts.slice(0, page.size), page, snapshot };
  }
}
Get()(AccountsController.prototype, 'list', Object.getOwnPropertyDescriptor(AccountsController.prototype, 'list'));
Controller('api/v1/accounts')(AccountsController);

class AppModule {}
Module({ controllers: [AccountsController] })(AppModule);

const app = await NestFactory.create(AppModule, { logger: ['error'] });
await app.listen(Number(port), '127.0.0.1');
