// The entry of the dashboard's page: makes its parts, opens the live stream while the page is on screen, and draws.

import { render } from 'preact';
import { DashboardApi } from './api/api.ts';
import { liveEnvironment, Navigation, schedule } from './browser.ts';
import { App } from './components/app.tsx';
import { PageContext } from './components/page-context.ts';
import { LiveConnection } from './live/live-connection.ts';
import { LiveStore } from './live/live-store.ts';
import { Notices } from './notices.ts';
import { QueueOrder } from './queues/queue-order.ts';

const store = new LiveStore();
const connection = new LiveConnection(store, liveEnvironment);
const navigation = new Navigation();

function followPlace(): void {
  const place = navigation.value;
  connection.watch(place.view === 'queue' ? place.queue : undefined);
}

function followVisibility(): void {
  connection.setVisible(document.visibilityState === 'visible');
}

followPlace();
navigation.subscribe(followPlace);
followVisibility();
document.addEventListener('visibilitychange', followVisibility);

const page = {
  store,
  navigation,
  api: new DashboardApi((path, init) => fetch(path, init)),
  notices: new Notices(schedule),
  order: new QueueOrder(),
};
const root = document.getElementById('page');
if (root !== null) {
  render(
    <PageContext.Provider value={page}>
      <App />
    </PageContext.Provider>,
    root,
  );
}
