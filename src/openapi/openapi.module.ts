import { Module } from '@nestjs/common';
import { OpenApiController } from './openapi.controller.js';

/** The description of the API. */
@Module({ controllers: [OpenApiController] })
export class OpenApiModule {}
