const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for HTML, in an attribute too. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char);
