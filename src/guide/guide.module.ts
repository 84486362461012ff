import { Module } from '@nestjs/common';
import { ClientPackageController } from './client-package.controller.js';
import { GuideController } from './guide.controller.js';

/** The documents and the typed client, for developers and operators. */
@Module({ controllers: [GuideController, ClientPackageController] })
export class GuideModule {}
