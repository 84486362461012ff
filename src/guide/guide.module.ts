import { Module } from '@nestjs/common';
import { ClientPackageController } from './client-package.controller.js';
import { GuideController } from './guide.controller.js';
import { GuidePages } from './guide-pages.js';

/** The documents and the typed client, for developers and operators. */
@Module({ controllers: [GuideController, ClientPackageController], providers: [GuidePages] })
export class GuideModule {}
