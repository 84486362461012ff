/** A value that is made at the first call for it, once; while it is being made, all who ask wait for the same. */
export class Lazy<T> {
  readonly #make: () => Promise<T>;
  #ready: T | null;
  #pending: Promise<T> | null = null;

  /** @param ready the value, where it has been made beforehand */
  constructor(make: () => Promise<T>, ready: T | null = null) {
    this.#make = make;
    this.#ready = ready;
  }

  /** The value, if it is there. */
  get ready(): T | null {
    return this.#ready;
  }

  /** The value, if it is there and has been asked for. */
  get used(): T | null {
    return this.#pending === null ? null : this.#ready;
  }

  get(): Promise<T> {
    if (this.#pending === null) {
      const making = this.#ready === null ? this.#make() : Promise.resolve(this.#ready);
      this.#pending = making.then((value) => (this.#ready = value));
    }
    return this.#pending;
  }
}
