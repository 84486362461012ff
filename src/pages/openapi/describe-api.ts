import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { z } from 'zod';
import { VERSION } from '../../config/build-output.js';
import { namedSchemas, toParameterSchema } from '../../representation/schemas.js';
import { addCommonResponses, RESPONSE_HEADERS } from './common-responses.js';

/** Explains npm's UNLICENSED; linters reject a license without a URL. */
const LICENSE_PAGE = 'https://docs.npmjs.com/cli/configuring-npm/package-json#license';
const DESCRIPTION = `Accounts and balances of a bank for internal web apps, from one snapshot of the bank's whole list.

Amounts are decimal strings; none is rounded. Errors are \`application/problem+json\`; decide by \`code\`.
Fields and values may be added to answers. Address, host name and origin decide who may call; there are no credentials.`;

/** Describes the API from the schemas that also validate it. */
export function describeApi(app: INestApplication): OpenAPIObject {
  const description = new DocumentBuilder()
    .setOpenAPIVersion('3.1.1')
    .setTitle('accounts-gateway')
    .setDescription(DESCRIPTION)
    .setVersion(VERSION)
    .addServer('/', 'the gateway that serves this document')
    .addTag('accounts', 'Accounts and balances.')
    .addTag('health', 'For load balancers, probes and operators.')
    .addTag('problems', 'The meaning of each error, who must act, and the remedy.')
    .setLicense('UNLICENSED', LICENSE_PAGE)
    .build();
  const document = SwaggerModule.createDocument(
    app,
    { ...description, security: [] },
    { standardSchemaConverter: (schema) => ({ schema: toParameterSchema(schema as z.ZodType) }) },
  );
  addCommonResponses(document.paths);
  return { ...document, components: { schemas: namedSchemas(), headers: RESPONSE_HEADERS } };
}
