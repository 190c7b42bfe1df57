Feature: Auto-created queues
  With EnableAutoCreate, which is the default, a publish or a subscription to a missing queue creates it.

  @QUEUE-044 @QUEUE-049
  Scenario: A publish creates a missing queue
    When the publisher publishes message "m1" to queue "orders"
    Then message "m1" is confirmed to the publisher
    And queue "orders" has these properties:
      | messageCount     | 1     |
      | deliveryMode     | 0     |
      | maxSize          | 10000 |
      | maxRetryAttempts | 3     |

  @QUEUE-047
  Scenario: A subscription creates a missing queue
    When the subscriber subscribes to queue "orders"
    Then the command succeeds
    And queue "orders" has 1 subscriber

  @QUEUE-044 @QUEUE-047
  Scenario: An auto-created queue has the defaults of the server
    Given a broker with these settings:
      | defaultDeliveryMode | FanOutWithAck |
      | maxQueueSize        | 77            |
    When the publisher publishes message "m1" to queue "orders"
    And the subscriber subscribes to queue "payments"
    Then queue "orders" has these properties:
      | deliveryMode | 1  |
      | maxSize      | 77 |
    And queue "payments" has these properties:
      | deliveryMode | 1  |
      | maxSize      | 77 |
    And the subscriber receives no message

  @QUEUE-045 @QUEUE-046
  Scenario: Without EnableAutoCreate a publish to a missing queue is refused
    Given a broker with these settings:
      | enableAutoCreate | false |
    When the publisher publishes message "m1" to queue "orders"
    Then message "m1" of the publisher is refused with QUEUE_NOT_FOUND
    And queue "orders" does not exist

  @QUEUE-048
  Scenario: Without EnableAutoCreate a subscription to a missing queue is refused
    Given a broker with these settings:
      | enableAutoCreate | false |
    When the subscriber subscribes to queue "orders"
    Then the command is refused with QUEUE_NOT_FOUND
    And queue "orders" does not exist

  @QUEUE-001
  Scenario: Without EnableAutoCreate a queue can still be created
    Given a broker with these settings:
      | enableAutoCreate | false |
    When the client creates queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    Then message "m1" is confirmed to the publisher
