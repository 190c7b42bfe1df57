// The list of all checks, from modules by theme. A check that is not in this list does not run.
import type { Check } from '../check.ts';
import { acknowledgmentChecks } from './acknowledgments.ts';
import { adminAnswerChecks } from './admin-answers.ts';
import { blockedInModesChecks } from './blocked-in-modes.ts';
import { blockedRepeatChecks } from './blocked-repeats.ts';
import { blockingChecks } from './blocking.ts';
import { bodyChecks } from './body.ts';
import { changedRightChecks } from './changed-rights.ts';
import { compressedDeliveryChecks } from './compressed-deliveries.ts';
import { compressedFrameChecks } from './compressed-frames.ts';
import { compressionChecks } from './compression.ts';
import { connectionChecks } from './connection.ts';
import { credentialChecks } from './credentials.ts';
import { dashboardChecks } from './dashboard.ts';
import { dashboardMessageChecks } from './dashboard-messages.ts';
import { dashboardRequestChecks } from './dashboard-requests.ts';
import { deadLetterFrameChecks } from './dead-letter-frames.ts';
import { deadLetterChecks } from './dead-letters.ts';
import { deletedQueueChecks } from './deleted-queues.ts';
import { deliveryChecks } from './delivery.ts';
import { disconnectChecks } from './disconnect.ts';
import { durableChangeChecks } from './durable-changes.ts';
import { durableEndingChecks } from './durable-endings.ts';
import { durableLetterChecks } from './durable-letters.ts';
import { durableMessageChecks } from './durable-messages.ts';
import { durableQueueChecks } from './durable-queues.ts';
import { encodingChecks } from './encoding.ts';
import { endedMessageChecks } from './ended-messages.ts';
import { existingQueueChecks } from './existing-queues.ts';
import { expiredRetryChecks } from './expired-retries.ts';
import { expiryChecks } from './expiry.ts';
import { failedAttemptChecks } from './failed-attempts.ts';
import { failingStoreChecks } from './failing-stores.ts';
import { failureMetricChecks } from './failure-metrics.ts';
import { fanOutChecks } from './fan-out.ts';
import { fanOutPauseChecks } from './fan-out-pauses.ts';
import { fieldRuleChecks } from './field-rules.ts';
import { framingChecks } from './framing.ts';
import { fullMemoryChecks } from './full-memory.ts';
import { givenBackChecks } from './given-back.ts';
import { handshakeChecks } from './handshake.ts';
import { healthChecks } from './health.ts';
import { historyChecks } from './histories.ts';
import { limitChecks } from './limits.ts';
import { memberChecks } from './members.ts';
import { messageContentChecks } from './message-content.ts';
import { metricsChecks } from './metrics.ts';
import { negativeAckChecks } from './negative-acks.ts';
import { optionFormChecks } from './option-forms.ts';
import { otherModeChecks } from './other-modes.ts';
import { overflowChecks } from './overflow.ts';
import { payloadJsonChecks } from './payload-json.ts';
import { permissionChecks } from './permissions.ts';
import { precedenceChecks } from './precedence.ts';
import { priorityChecks } from './priority.ts';
import { publishChecks } from './publish.ts';
import { queueOptionChecks } from './queue-options.ts';
import { queueChecks } from './queues.ts';
import { rateLimitChecks } from './rate-limits.ts';
import { recordingChecks } from './recordings.ts';
import { refusedMessageChecks } from './refused-messages.ts';
import { repeatChecks } from './repeats.ts';
import { requeueChecks } from './requeue.ts';
import { resourceLimitChecks } from './resource-limits.ts';
import { retryChecks } from './retry.ts';
import { scenarioChecks } from './scenarios.ts';
import { severalQueueChecks } from './several-queues.ts';
import { shutdownChecks } from './shutdown.ts';
import { shutdownEndingChecks } from './shutdown-endings.ts';
import { tlsChecks } from './tls.ts';
import { unreadAnswerChecks } from './unread-answers.ts';
import { userAdministrationChecks } from './user-administration.ts';
import { userIdentityChecks } from './user-identity.ts';
import { userRightChecks } from './user-rights.ts';
import { largeVolumeChecks } from './volume.ts';
import { windowChecks } from './windows.ts';

export const checks: readonly Check[] = [
  ...framingChecks,
  ...encodingChecks,
  ...bodyChecks,
  ...fieldRuleChecks,
  ...handshakeChecks,
  ...connectionChecks,
  ...disconnectChecks,
  ...precedenceChecks,
  ...queueChecks,
  ...queueOptionChecks,
  ...existingQueueChecks,
  ...payloadJsonChecks,
  ...publishChecks,
  ...deletedQueueChecks,
  ...deliveryChecks,
  ...messageContentChecks,
  ...acknowledgmentChecks,
  ...compressionChecks,
  ...compressedFrameChecks,
  ...compressedDeliveryChecks,
  ...recordingChecks,
  ...healthChecks,
  ...metricsChecks,
  ...limitChecks,
  ...rateLimitChecks,
  ...fanOutChecks,
  ...fanOutPauseChecks,
  ...priorityChecks,
  ...optionFormChecks,
  ...otherModeChecks,
  ...severalQueueChecks,
  ...overflowChecks,
  ...blockingChecks,
  ...blockedRepeatChecks,
  ...blockedInModesChecks,
  ...givenBackChecks,
  ...retryChecks,
  ...failedAttemptChecks,
  ...windowChecks,
  ...memberChecks,
  ...expiredRetryChecks,
  ...expiryChecks,
  ...endedMessageChecks,
  ...deadLetterChecks,
  ...deadLetterFrameChecks,
  ...negativeAckChecks,
  ...refusedMessageChecks,
  ...failureMetricChecks,
  ...resourceLimitChecks,
  ...fullMemoryChecks,
  ...unreadAnswerChecks,
  ...repeatChecks,
  ...historyChecks,
  ...largeVolumeChecks,
  ...durableMessageChecks,
  ...durableQueueChecks,
  ...failingStoreChecks,
  ...durableEndingChecks,
  ...durableLetterChecks,
  ...durableChangeChecks,
  ...shutdownChecks,
  ...shutdownEndingChecks,
  ...credentialChecks,
  ...userRightChecks,
  ...userAdministrationChecks,
  ...userIdentityChecks,
  ...permissionChecks,
  ...adminAnswerChecks,
  ...changedRightChecks,
  ...tlsChecks,
  ...dashboardChecks,
  ...dashboardMessageChecks,
  ...dashboardRequestChecks,
  ...requeueChecks,
  ...scenarioChecks,
];
