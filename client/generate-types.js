import { createClient } from '@hey-api/openapi-ts';

/** Generates the client's types: `node generate-types.js openapi.json src/generated`. `npm run docs` calls it. */
const [input, path] = process.argv.slice(2);
await createClient({
  input,
  // only types, imported in the way that nodenext requires
  output: { path, entryFile: false, module: { extension: '.js' } },
  plugins: ['@hey-api/typescript'],
  logs: { level: 'silent', file: false },
});
