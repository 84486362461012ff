import { Module } from '@nestjs/common';
import { GuideController } from './guide.controller.js';
import { GuidePages } from './guide-pages.js';

/** The documents for people who build on the gateway or run it. */
@Module({ controllers: [GuideController], providers: [GuidePages] })
export class GuideModule {}
