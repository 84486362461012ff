// Parts of node-forge: the whole takes ten times as long to load, and each PFX is read in a thread of its own.

declare module 'node-forge/lib/asn1.js' {
  export { asn1 as default } from 'node-forge';
}

declare module 'node-forge/lib/rc2.js' {
  export { rc2 as default } from 'node-forge';
}

declare module 'node-forge/lib/util.js' {
  export { util as default } from 'node-forge';
}
