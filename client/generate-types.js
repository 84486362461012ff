import { createClient } from '@hey-api/openapi-ts';

/** Makes the types of the client: `node generate-types.js openapi.json src/generated`. `npm run docs` calls it. */
const [input, path] = process.argv.slice(2);
await createClient({
  input,
  // types alone, imported as nodenext wants it
  output: { path, entryFile: false, module: { extension: '.js' } },
  plugins: ['@hey-api/typescript'],
  logs: { level: 'silent', file: false },
});
