/** Returns what `build` returned within the last second, or builds it anew. */
export function keepASecond<T>(build: () => T): () => T {
  let kept: { readonly value: T; readonly at: number } | null = null;
  return () => {
    const at = performance.now();
    if (!kept || at - kept.at >= 1000) kept = { value: build(), at };
    return kept.value;
  };
}
