/** Commands that an operator can paste; the specs run them with the real openssl. */

/** Converts any PFX that openssl can read (with its legacy ciphers) to AES-256 with a SHA-256 MAC. */
export const EXPORT_AGAIN =
  'openssl pkcs12 -legacy -in old.pfx -nodes -out tmp.pem && openssl pkcs12 -export -in tmp.pem -out new.pfx ' +
  '-keypbe AES-256-CBC -certpbe AES-256-CBC -macalg SHA256 && rm tmp.pem';

/** The same on the Windows machine that holds the certificate. */
export const EXPORT_AGAIN_ON_WINDOWS = 'Export-PfxCertificate -CryptoAlgorithmOption AES256_SHA256';

export const PFX_FROM_PEM =
  'openssl pkcs12 -export -inkey key.pem -in certificate.pem -certfile chain.pem -out client.pfx';

export const PFX_FROM_JKS =
  'keytool -importkeystore -srckeystore client.jks -destkeystore client.pfx -deststoretype PKCS12';
