// TLS and users: an encrypted connection to a broker with users, and one user that may do no more than it needs. The broker is started with
// truemq serve --tls-certificate-path cert.pem --tls-key-path key.pem --superuser-password-file password
//
// tls-and-users.ts URL CA_FILE      the password of the superuser is in BROKER_PASSWORD, so that no list of processes shows it

import { CommandError, connect } from 'truemq/client';

const [url = 'vibemq://127.0.0.1?tls=true', tlsCa = 'ca.crt'] = process.argv.slice(2);
const password = process.env['BROKER_PASSWORD'] ?? '';

// tlsCa is needed if the broker's certificate comes from an authority of your own. Do not use skipCertificateValidation in its place.
const admin = await connect(url, { tlsCa, username: 'vibemq', password });
await admin.createUser('shop', 'password of shop');
await admin.grant('shop', 'orders.*', ['Publish']);

const shop = await connect(url, { tlsCa, username: 'shop', password: 'password of shop' });
await shop.publish('orders.eu', { item: 'tea' });
console.log('shop may publish to orders.eu');

try {
  await shop.subscribe('orders.eu', () => undefined);
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  console.log(`shop may not subscribe: ${error.code}`);
}

// The broker closes the connections of a user that is deleted.
await admin.deleteUser('shop');
await shop.close();
await admin.close();
