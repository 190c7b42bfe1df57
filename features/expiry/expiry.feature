Feature: Expiry
  The broker does not deliver a message that is older than the message TTL of its queue.

  @TTL-001 @TTL-002 @TTL-005 @TTL-008
  Scenario: A message expires without a subscriber
    Given queue "orders" exists with a message TTL of 8 s
    And the numbers of "/metrics/" are noted
    When the publisher publishes message "m1" to queue "orders"
    Then queue "orders" has 1 waiting message
    When 9 s pass
    Then queue "orders" eventually has 0 waiting messages
    And these numbers of "/metrics/" have changed by:
      | total_messages_published | 1 |
      | total_errors             | 1 |
      | total_messages_delivered | 0 |
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives no message

  @TTL-007 @DLQ-013 @DLQ-015
  Scenario: With a dead letter queue it is dead-lettered
    Given queue "orders" exists with a message TTL of 3 s and options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders.dlq"
    When the publisher publishes message "m1" to queue "orders"
    And 3 s pass
    Then the subscriber receives message "m1" with these headers among others:
      | deadLetterReason   | MessageExpired |
      | deadLetterAttempts | 0              |
      | deadLetterSource   | queue "orders" |

  @TTL-001
  Scenario: An older message expires before a younger one
    Given queue "orders" exists with a message TTL of 10 s
    And the publisher publishes message "m1" to queue "orders"
    When 6 s pass
    And the publisher publishes message "m2" to queue "orders"
    And 5 s pass
    Then queue "orders" eventually has 1 waiting message
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives message "m2"
    And the subscriber receives no further message

  @TTL-009
  Scenario: A message in flight does not expire
    Given queue "orders" exists with a message TTL of 2 s and options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When 4 s pass
    And the subscriber acknowledges message "m1"
    And the subscriber disconnects
    Then queue "orders" has 0 waiting messages
    And queue "orders.dlq" has 0 waiting messages

  @TTL-010
  Scenario: A message over its TTL expires when it is given back
    Given queue "orders" exists with a message TTL of 2 s and options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When 4 s pass
    And the subscriber disconnects
    Then queue "orders" eventually has 0 waiting messages
    And queue "orders.dlq" eventually has 1 waiting message

  @TTL-010
  Scenario: A message over its TTL expires when it would be sent again
    Given a broker with these settings:
      | ackTimeout | 2 s |
      | retryDelay | 1 s |
    And queue "orders" exists with a message TTL of 2.5 s and options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And another client subscribes to queue "orders.dlq"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When 3 s pass
    Then another client receives message "m1" with these headers among others:
      | deadLetterReason   | MessageExpired |
      | deadLetterAttempts | 1              |
    And the subscriber receives no further message

  @TTL-011
  Scenario: When the last attempt fails after the TTL has passed, the reason is MaxRetriesExceeded
    Given a broker with these settings:
      | ackTimeout | 2 s |
    And queue "orders" exists with a message TTL of 1 s and options:
      | enableDeadLetterQueue | true |
      | maxRetryAttempts      | 1    |
    And the subscriber subscribes to queue "orders"
    And another client subscribes to queue "orders.dlq"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When 2 s pass
    Then another client receives message "m1" with these headers among others:
      | deadLetterReason | MaxRetriesExceeded |

  @TTL-003
  Scenario: The age of a dead letter starts when it is dead-lettered
    Given queue "lost" exists with a message TTL of 20 s
    And queue "orders" exists with a message TTL of 10 s and options:
      | enableDeadLetterQueue | true |
      | deadLetterQueueName   | lost |
    When the publisher publishes message "m1" to queue "orders"
    And 11 s pass
    Then queue "lost" eventually has 1 waiting message
    When 11 s pass
    And the subscriber subscribes to queue "lost"
    Then the subscriber receives message "m1"
    When the subscriber disconnects
    And 9 s pass
    Then queue "lost" eventually has 0 waiting messages

  @TTL-012
  Scenario: Without a message TTL no message expires
    Given queue "orders" exists
    And the publisher publishes message "m1" to queue "orders"
    When 8 s pass
    Then queue "orders" has 1 waiting message
