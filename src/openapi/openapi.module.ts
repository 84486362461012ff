import { Module } from '@nestjs/common';
import { ApiDocument } from './api-document.js';
import { OpenApiController } from './openapi.controller.js';

/** The description of the API. */
@Module({ controllers: [OpenApiController], providers: [ApiDocument] })
export class OpenApiModule {}
