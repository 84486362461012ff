import { Module } from '@nestjs/common';
import { ClientPackageController } from './client-package.controller.js';
import { GuideController } from './guide.controller.js';
import { GuidePages } from './guide-pages.js';

/** What people who build on the gateway or run it need: the documents and the typed client. */
@Module({ controllers: [GuideController, ClientPackageController], providers: [GuidePages] })
export class GuideModule {}
