// How many users and rights a broker keeps. Without limits a client with admin rights could fill memory and disk, and the answer of a list
// would outgrow a frame. Implements AUTH-060 and AUTH-061; a test compares the limits with spec/tables/limits.yaml.

export type UserLimits = {
  readonly maxUsers: number;
  readonly maxEntriesPerUser: number;
};

export const userLimits: UserLimits = { maxUsers: 10_000, maxEntriesPerUser: 1_000 };
