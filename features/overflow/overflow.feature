Feature: Overflow
  The overflow strategy of a queue decides what a publish to the full queue does.

  @OVERFLOW-001
  Scenario Outline: <strategy>: a message that can be delivered immediately is never refused
    Given queue "orders" exists with options:
      | maxQueueSize          | 1          |
      | overflowStrategy      | <strategy> |
      | enableDeadLetterQueue | true       |
    And the subscriber subscribes to queue "orders"
    When the publisher publishes messages "m1 to m5" to queue "orders"
    Then messages "m1 to m5" are confirmed to the publisher
    And the subscriber receives messages "m1 to m5"

    Examples:
      | strategy       |
      | DropOldest     |
      | DropNewest     |
      | BlockPublisher |
      | RedirectToDlq  |

  @DELIVERY-003
  Scenario: Messages in flight take no room in the queue
    Given queue "orders" exists with options:
      | maxQueueSize     | 1          |
      | overflowStrategy | DropNewest |
    And the subscriber subscribes to queue "orders" for at most 1 message at a time
    When the publisher publishes messages "m1, m2" to queue "orders"
    Then messages "m1, m2" are confirmed to the publisher
    And the subscriber receives message "m1"
    And queue "orders" has 1 waiting message

  @OVERFLOW-002 @OVERFLOW-004 @OVERFLOW-005 @OVERFLOW-006
  Scenario: DropOldest evicts the message that was published first
    Given queue "orders" exists with options:
      | maxQueueSize          | 3          |
      | overflowStrategy      | DropOldest |
      | enableDeadLetterQueue | true       |
    And the numbers of "/metrics/" are noted
    When the publisher publishes messages "m1 to m5" to queue "orders"
    Then messages "m1 to m5" are confirmed to the publisher
    And queue "orders" has 3 waiting messages
    And queue "orders.dlq" has 0 waiting messages
    And these numbers of "/metrics/" have changed by:
      | total_errors        | 2 |
      | total_dead_lettered | 0 |
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m3 to m5"

  @OVERFLOW-003
  Scenario: DropOldest ignores the priority
    Given queue "alarms" exists with options:
      | mode         | PriorityBased |
      | maxQueueSize | 2             |
    When the publisher publishes message "m1" to queue "alarms" with priority Critical
    And the publisher publishes message "m2" to queue "alarms" with priority Low
    And the publisher publishes message "m3" to queue "alarms" with priority Low
    And the subscriber subscribes to queue "alarms"
    Then the subscriber receives messages "m2, m3"

  @OVERFLOW-007 @OVERFLOW-008 @OVERFLOW-009 @PUBLISH-003 @QUEUE-029
  Scenario: DropNewest refuses the new message
    Given queue "orders" exists with options:
      | maxQueueSize     | 2          |
      | overflowStrategy | DropNewest |
    When the publisher publishes messages "m1 to m3" to queue "orders"
    Then messages "m1, m2" are confirmed to the publisher
    And message "m3" of the publisher is refused with QUEUE_FULL
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m1, m2"

  @OVERFLOW-022 @OVERFLOW-023 @OVERFLOW-024 @PUBLISH-002
  Scenario: RedirectToDlq adds the new message to the dead letter queue
    Given queue "orders" exists with options:
      | maxQueueSize          | 2             |
      | overflowStrategy      | RedirectToDlq |
      | enableDeadLetterQueue | true          |
    When the publisher publishes messages "m1 to m3" to queue "orders"
    Then messages "m1 to m3" are confirmed to the publisher
    And queue "orders" has 2 waiting messages
    When the subscriber subscribes to queue "orders.dlq"
    Then the subscriber receives message "m3" with these headers among others:
      | deadLetterReason   | QueueOverflow  |
      | deadLetterSource   | queue "orders" |
      | deadLetterAttempts | 0              |
    And the subscriber receives no further message
