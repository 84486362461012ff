/** A text as it is searched: without letter case and accents. */
export function foldText(text: string): string {
  if (isAscii(text)) return text.toUpperCase();
  // upper case first: it writes ß as SS and brings all forms of a letter together
  return text.toUpperCase().normalize('NFD').replace(/\p{M}/gu, '');
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}
