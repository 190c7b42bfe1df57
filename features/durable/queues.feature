Feature: Queues in a durable store
  The broker keeps queues and their options over a restart; deleted queues stay deleted.

  @DURABLE-008
  Scenario: Queues keep their options
    Given a broker with a durable store
    And queue "orders" exists with options:
      | mode                  | PriorityBased |
      | maxQueueSize          | 7             |
      | messageTtl            | 1.02:03:04    |
      | enableDeadLetterQueue | true          |
      | deadLetterQueueName   | lost-orders   |
      | overflowStrategy      | RedirectToDlq |
      | maxRetryAttempts      | 5             |
    And queue "payments" exists
    When the broker is killed and started again
    Then the list of queues is "orders, lost-orders, payments"
    And queue "orders" has these properties:
      | deliveryMode          | 3           |
      | maxSize               | 7           |
      | messageTtl            | 1.02:03:04  |
      | enableDeadLetterQueue | true        |
      | deadLetterQueueName   | lost-orders |
      | overflowStrategy      | 3           |
      | maxRetryAttempts      | 5           |

  @DURABLE-009
  Scenario: Queues keep their creation time
    Given a broker with a durable store
    And queue "orders" exists
    And the creation time of queue "orders" is noted
    When the broker is killed
    And 20 s pass
    And the broker is started again
    Then queue "orders" has the noted creation time

  @DURABLE-027
  Scenario: A deleted queue stays deleted
    Given a broker with a durable store
    And the publisher publishes messages "m1, m2" to queue "orders"
    And the publisher deletes queue "orders"
    When the broker is killed and started again
    Then the list of queues is ""
    When the publisher creates queue "orders"
    Then queue "orders" has 0 waiting messages

  @DURABLE-027
  Scenario: A queue that was created again has only later messages
    Given a broker with a durable store
    And the publisher publishes messages "m1, m2" to queue "orders"
    And the publisher deletes queue "orders"
    And the publisher publishes message "m3" to queue "orders"
    When the broker is killed and started again
    And the subscriber subscribes to queue "orders"
    Then the subscriber receives message "m3"
    And the subscriber receives no further message

  @DURABLE-027
  Scenario: A message that was evicted stays removed
    Given a broker with a durable store
    And queue "orders" exists with options:
      | maxQueueSize     | 2          |
      | overflowStrategy | DropOldest |
    And the publisher publishes messages "m1 to m4" to queue "orders"
    When the broker is killed and started again
    And the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m3, m4"
    And the subscriber receives no further message

  @DURABLE-027
  Scenario: A message that was sent in FanOutWithoutAck stays removed
    Given a broker with a durable store
    And queue "ticks" exists with options:
      | mode | FanOutWithoutAck |
    And the subscriber subscribes to queue "ticks"
    And the publisher publishes message "m1" to queue "ticks"
    And the subscriber receives message "m1"
    When the broker is killed and started again
    Then queue "ticks" has 0 waiting messages

  @DURABLE-023
  Scenario: Without a durable store all queues are lost
    Given the publisher publishes message "m1" to queue "orders"
    When the broker is stopped and started again
    Then the list of queues is ""
