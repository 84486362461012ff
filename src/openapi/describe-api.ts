import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { z } from 'zod';
import { VERSION } from '../config/version.js';
import { RESPONSE_HEADERS } from './response-headers.js';
import { namedSchemas, toParameterSchema } from './schemas.js';

/** What npm means by it; a licence without a page to read is refused by linters. */
const LICENSE_PAGE = 'https://docs.npmjs.com/cli/configuring-npm/package-json#license';
const DESCRIPTION = `A bank's accounts and balances for internal web apps, from one complete reading of the bank.

Amounts are decimal strings with the digits that the bank sent. Errors are \`application/problem+json\`; decide by \`code\`.
Fields and values may be added to answers. Who may call is decided by address and host name; there are no credentials.`;

/** Serves /openapi.json and /docs, from the schemas that also validate; the document is made when first asked for. */
export function describeApi(app: INestApplication): void {
  const description = new DocumentBuilder()
    .setTitle('accounts-gateway')
    .setDescription(DESCRIPTION)
    .setVersion(VERSION)
    .addServer('/', 'where this document comes from')
    .addTag('accounts', 'The accounts and what is on them.')
    .addTag('health', 'For balancers, probes and people.')
    .addTag('problems', 'What each error means, who must act, and what to do.')
    .build();
  const info = { ...description.info, license: { name: 'UNLICENSED', url: LICENSE_PAGE } };
  const createDocument = (): OpenAPIObject => {
    const document = SwaggerModule.createDocument(
      app,
      { ...description, info, security: [] },
      { standardSchemaConverter: (schema) => ({ schema: toParameterSchema(schema as z.ZodType) }) },
    );
    return { ...document, components: { ...document.components, schemas: namedSchemas(), headers: RESPONSE_HEADERS } };
  };
  SwaggerModule.setup('docs', app, createDocument, {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'accounts-gateway',
  });
}
