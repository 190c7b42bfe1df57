// Which failures of a start have a reason that the operator can remove. Their messages are for people: what happened, where, what to do.

import { UserStoreError } from '../auth/user-store.ts';
import { ListenError } from '../http/listen-error.ts';
import { CertificateError } from '../net/certificate-error.ts';
import { StoreError } from '../storage/storage-provider.ts';

/** Whether a start failed for a reason that the operator can remove: the message is for people. */
export function isStartFailure(error: unknown): error is Error {
  return [CertificateError, ListenError, StoreError, UserStoreError].some((kind) => error instanceof kind);
}
