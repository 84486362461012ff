/** The commands an operator can paste, kept in one place; the spec runs them with the real openssl. */

/** Takes any PFX that openssl can read (with its legacy ciphers) to one in AES-256 with a SHA-256 MAC. */
export const EXPORT_AGAIN =
  'openssl pkcs12 -legacy -in old.pfx -nodes -out tmp.pem && openssl pkcs12 -export -in tmp.pem -out new.pfx ' +
  '-keypbe AES-256-CBC -certpbe AES-256-CBC -macalg SHA256 && rm tmp.pem';

/** The same on the Windows machine that holds the certificate. */
export const EXPORT_AGAIN_ON_WINDOWS = 'Export-PfxCertificate -CryptoAlgorithmOption AES256_SHA256';

/** For a certificate and its key in PEM files. */
export const PFX_FROM_PEM =
  'openssl pkcs12 -export -inkey key.pem -in certificate.pem -certfile chain.pem -out client.pfx';

/** For a PFX in base64. */
export const DECODE_BASE64 = 'base64 -d old.txt > client.pfx (on Windows: certutil -decode old.txt client.pfx)';

/** For a PFX between BEGIN and END lines, as certutil -encode writes it. */
export const DECODE_PEM =
  "sed '/-----/d' old.txt | base64 -d > client.pfx (on Windows: certutil -decode old.txt client.pfx)";

/** For one PEM file with certificate and key. */
export const PFX_FROM_ONE_PEM = 'openssl pkcs12 -export -in client.pem -out client.pfx';

export const PFX_FROM_CER = `openssl x509 -inform der -in client.cer -out certificate.pem && ${PFX_FROM_PEM}`;
export const PFX_FROM_DER_KEY = `openssl pkey -inform der -in key.der -out key.pem && ${PFX_FROM_PEM}`;

const WITH_KEY = 'openssl pkcs12 -export -inkey key.pem -in certificate.pem -out client.pfx';
export const PFX_FROM_P7B = `openssl pkcs7 -inform der -in client.p7b -print_certs -out certificate.pem && ${WITH_KEY}`;
export const PFX_FROM_PEM_P7B = `openssl pkcs7 -in client.p7b -print_certs -out certificate.pem && ${WITH_KEY}`;

export const PFX_FROM_JKS =
  'keytool -importkeystore -srckeystore client.jks -destkeystore client.pfx -deststoretype PKCS12';
export const PFX_FROM_JCEKS = PFX_FROM_JKS.replace('client.jks', 'client.jks -srcstoretype JCEKS');
