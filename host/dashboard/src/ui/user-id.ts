// What the gateway takes as the id of a user.

export const USER_ID = /^[A-Za-z0-9._:@-]{1,128}$/;
export const USER_ID_RULE = 'Use only letters, digits and . _ : @ -';
