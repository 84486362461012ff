import gateway from '../jest.config.js';

/** The client's tests, which call a gateway that is built from this checkout. */
export default { ...gateway, rootDir: '..', roots: ['<rootDir>/client/test'] };
