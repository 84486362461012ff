/** Headers of every response, including those to malformed HTTP. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Policy for the server's own HTML, which runs no script. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...SECURITY_HEADERS,
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

const CONSOLE_HEADERS: Readonly<Record<string, string>> = {
  ...SECURITY_HEADERS,
  // only what it was built of, and nothing that turns text into markup or script
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
};

/** The security headers of the response for this path. */
export const toSecurityHeaders = (path: string): Readonly<Record<string, string>> =>
  path === '/' ? CONSOLE_HEADERS : /^\/(docs|problems)(\/|$)/.test(path) ? PAGE_HEADERS : SECURITY_HEADERS;
