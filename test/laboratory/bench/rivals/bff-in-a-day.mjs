// A BFF written in a day: Nest, axios over mutual TLS, a token kept until a minute before it expires, and one call to
// the bank per request. It reads one page, caches nothing, and sends amounts as JSON numbers. argv: port. It has the
// settings of the gateway.
import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { BadGatewayException, Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import axios from 'axios';

const [port] = process.argv.slice(2);
const read = (variable) => readFileSync(process.env[variable], 'utf8').trim();

class BankService {
  calls = 0;
  #token = null;
  #client = axios.create({
    baseURL: process.env.BANK_BASE_URL,
    timeout: 10_000,
    proxy: false,
    httpsAgent: new Agent({
      keepAlive: true,
      pfx: readFileSync(process.env.BANK_PFX_FILE),
      passphrase: read('BANK_PFX_PASSCODE_FILE'),
      ca: read('BANK_CA_FILE'),
    }),
  });

  async accounts() {
    this.calls += 1;
    const { data } = await this.#client.get('/api/v1/accounts', {
      params: { PageNumber: 1, PageSize: 50 },
      headers: { Authorization: `Bearer ${await this.#getToken()}` },
    });
    return data.result.map(({ accountId, friendlyName, currency, ibans, balances }) => ({
      id: accountId,
      name: friendlyName,
      currency,
      ibans,
      balances,
    }));
  }

  async #getToken() {
    if (this.#token && Date.now() < this.#token.renewAt) return this.#token.value;
    const basic = Buffer.from(`${read('BANK_USERNAME_FILE')}:${read('BANK_PASSWORD_FILE')}`).toString('base64');
    const { data } = await this.#client.get('/api/v1/authorizations/authorize', {
      headers: { 'Content-Type': 'application/json', Authorization: `Basic ${basic}` },
    });
    this.#token = { value: data.access_token, renewAt: Date.now() + (Number(data.expires_in) - 60) * 1000 };
    return this.#token.value;
  }
}

const bank = new BankService();

class AccountsController {
  async list() {
    try {
      return { accounts: await bank.accounts() };
    } catch (error) {
      throw new BadGatewayException('the bank does not respond', { cause: error });
    }
  }

  calls() {
    return { calls: bank.calls };
  }
}
for (const [method, path] of [
  ['list', 'api/v1/accounts'],
  ['calls', 'calls'],
]) {
  Get(path)(
    AccountsController.prototype,
    method,
    Object.getOwnPropertyDescriptor(AccountsController.prototype, method),
  );
}
Controller()(AccountsController);

class AppModule {}
Module({ controllers: [AccountsController] })(AppModule);

const app = await NestFactory.create(AppModule, new FastifyAdapter({ logger: false }), { logger: false });
await app.listen(Number(port), '127.0.0.1');
