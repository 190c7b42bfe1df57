Feature: Attempts and dead letters in a durable store
  The broker stores failed attempts, and a message that is being dead-lettered is always in exactly one of the two queues.

  @DURABLE-011
  Scenario: The number of failed attempts is kept over a restart
    Given a broker with these settings:
      | ackTimeout | 5 s |
      | retryDelay | 2 s |
    And a broker with a durable store
    And queue "orders" exists with options:
      | enableDeadLetterQueue | true |
      | maxRetryAttempts      | 3    |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    And the subscriber receives message "m1" again after 7 s
    And the subscriber receives message "m1" again after 9 s
    When the broker is killed and started again
    And the subscriber subscribes to queue "orders"
    And another client subscribes to queue "orders.dlq"
    Then the subscriber receives message "m1"
    And another client receives message "m1" 5 s after the subscriber
    And the subscriber receives no further message

  @DURABLE-012 @DURABLE-013
  Scenario: A dead letter keeps its content and headers over a restart
    Given a broker with a durable store
    And queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders" with headers:
      | correlationId | 4711 |
    And the subscriber receives message "m1"
    And the subscriber refuses message "m1" with reason DeserializationError
    When the broker is killed and started again
    And another client subscribes to queue "orders.dlq"
    Then another client receives message "m1" with these headers among others:
      | correlationId      | 4711                 |
      | deadLetterReason   | DeserializationError |
      | deadLetterSource   | queue "orders"       |
      | deadLetterAttempts | 1                    |
      | deadLetteredAt     | a timestamp          |

  @DURABLE-015 @DLQ-019
  Scenario: After a restart a dead letter is not in its source queue
    Given a broker with a durable store
    And queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    And the subscriber refuses message "m1" with reason DeserializationError
    When the broker is killed and started again
    Then queue "orders" has 0 waiting messages
    And queue "orders.dlq" has 1 waiting message

  @DLQ-010
  Scenario: A dead letter that fails again after a restart is discarded
    Given a broker with a durable store
    And queue "orders.dlq" exists with options:
      | enableDeadLetterQueue | true |
    And queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    And the subscriber refuses message "m1" with reason DeserializationError
    When the broker is killed and started again
    And the subscriber subscribes to queue "orders.dlq"
    And the subscriber receives message "m1"
    And the subscriber refuses message "m1" with reason DeserializationError
    Then queue "orders.dlq" has 0 waiting messages
    And queue "orders.dlq.dlq" has 0 waiting messages
