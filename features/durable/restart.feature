Feature: Restart
  After it was stopped or killed, a broker with a durable store has the same queues as before, and all messages that were confirmed
  and not settled.

  @DURABLE-001 @DURABLE-003
  Scenario: Confirmed messages are kept when the broker is killed
    Given a broker with a durable store
    And the publisher publishes messages "m1 to m3" to queue "orders"
    And messages "m1 to m3" are confirmed to the publisher
    When the broker is killed and started again
    Then queue "orders" has 3 waiting messages
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m1 to m3"

  @SHUTDOWN-003 @DURABLE-004
  Scenario: Confirmed messages are kept when the broker is stopped
    Given a broker with a durable store
    And the publisher publishes messages "m1 to m3" to queue "orders"
    When the broker is stopped and started again
    Then the list of queues is "orders"
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m1 to m3"
    And the subscriber receives no further message

  @DURABLE-005 @DURABLE-006
  Scenario: Acknowledged messages are not delivered again
    Given a broker with a durable store
    And the publisher publishes messages "m1 to m4" to queue "orders"
    And the subscriber subscribes to queue "orders"
    And the subscriber receives messages "m1 to m4"
    And the subscriber acknowledges messages "m1, m3"
    When the broker is killed and started again
    And the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m2, m4"
    And the subscriber receives no further message

  @DURABLE-002 @DELIVERY-040
  Scenario: Messages in flight are delivered again, and their attempts did not fail
    Given a broker with a durable store
    And queue "orders" exists with options:
      | maxRetryAttempts | 1 |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is killed and started again
    And another client subscribes to queue "orders"
    Then another client receives message "m1"

  @DURABLE-003 @DELIVERY-052 @DELIVERY-054
  Scenario: Messages keep their payload and their headers
    Given a broker with a durable store
    And the publisher publishes message "m1" to queue "orders" with payload '{ "amount" : 12.50 }'
    And the publisher publishes message "m2" to queue "orders" with headers:
      | correlationId | 4711 |
      | x-größe       | ä    |
    When the broker is killed and started again
    And the subscriber subscribes to queue "orders"
    Then the subscriber receives message "m1" with payload '{ "amount" : 12.50 }'
    And the subscriber receives message "m2" with exactly these headers:
      | correlationId | 4711 |
      | x-größe       | ä    |

  @DURABLE-010
  Scenario: Messages keep their order, and messages that were given back keep their places
    Given a broker with a durable store
    And the publisher publishes messages "m1 to m5" to queue "orders"
    And the subscriber subscribes to queue "orders"
    And the subscriber receives messages "m1 to m5"
    And the subscriber acknowledges message "m2"
    And the connection of the subscriber breaks
    When the broker is killed and started again
    And another client publishes message "m6" to queue "orders"
    And the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m1, m3 to m6"

  @DURABLE-003 @DELIVERY-031
  Scenario: Messages keep their priority
    Given a broker with a durable store
    And queue "orders" exists with options:
      | mode | PriorityBased |
    And the publisher publishes message "m1" to queue "orders" with priority Low
    And the publisher publishes message "m2" to queue "orders" with priority Critical
    When the broker is killed and started again
    And the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m2, m1"

  @DELIVERY-023
  Scenario: A FanOutWithAck message is delivered to the subscribers after the restart
    Given a broker with a durable store
    And queue "orders" exists with options:
      | mode | FanOutWithAck |
    And the subscriber subscribes to queue "orders"
    And another client subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    And another client receives message "m1"
    And the subscriber acknowledges message "m1"
    When the broker is killed and started again
    And the subscriber subscribes to queue "orders"
    Then the subscriber receives message "m1"

  @TTL-004 @TTL-010
  Scenario: The age of a message includes the time while the broker is down
    Given a broker with a durable store
    And queue "orders" exists with a message TTL of 20 s
    And queue "payments" exists with a message TTL of 600 s
    And the publisher publishes message "m1" to queue "orders"
    And the publisher publishes message "m2" to queue "payments"
    When the broker is killed
    And 21 s pass
    And the broker is started again
    Then queue "orders" eventually has 0 waiting messages
    And queue "payments" has 1 waiting message
