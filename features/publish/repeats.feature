Feature: Repeats
  A publisher that received no answer sends its message again with the same id. The broker recognizes the repeat and confirms it
  without adding a second message.

  @PUBLISH-005 @PUBLISH-008
  Scenario: A repeat of a waiting message
    When the publisher publishes message "m1" to queue "orders" with payload "1"
    And the publisher publishes message "m1" to queue "orders" with payload "2"
    Then messages "m1, m1" are confirmed to the publisher
    And queue "orders" has 1 waiting message
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives message "m1" with payload "1"
    And the subscriber receives no further message

  @PUBLISH-005
  Scenario: Repeats of messages among many that wait
    When the publisher publishes messages "m1, m2, m3, m4, m5, m6, m7" to queue "orders"
    And the publisher publishes messages "m5, m1, m7, m6" to queue "orders"
    Then messages "m1, m2, m3, m4, m5, m6, m7, m5, m1, m7, m6" are confirmed to the publisher
    And queue "orders" has 7 waiting messages
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m1, m2, m3, m4, m5, m6, m7"
    And the subscriber receives no further message

  @PUBLISH-006
  Scenario: A repeat of a message in flight
    Given the subscriber subscribes to queue "orders"
    When the publisher publishes messages "m1, m1" to queue "orders"
    Then messages "m1, m1" are confirmed to the publisher
    And the subscriber receives message "m1"
    And the subscriber receives no further message

  @PUBLISH-005
  Scenario: A repeat by another publisher
    When publisher A publishes message "m1" to queue "orders"
    And publisher B publishes message "m1" to queue "orders"
    Then message "m1" is confirmed to publisher B
    And queue "orders" has 1 waiting message

  @PUBLISH-011
  Scenario: The id of a settled message can be used again
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    And the subscriber acknowledges message "m1"
    When the publisher publishes message "m1" to queue "orders"
    Then messages "m1, m1" are confirmed to the publisher
    And the subscriber receives message "m1"

  @PUBLISH-009
  Scenario: A repeat evicts no message from a full queue
    Given queue "orders" exists with options:
      | maxQueueSize | 2 |
    When the publisher publishes messages "m1, m2, m2" to queue "orders"
    Then messages "m1, m2, m2" are confirmed to the publisher
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m1, m2"

  @PUBLISH-007
  Scenario: A repeat of a blocked publish receives the same answer as the first
    Given queue "orders" exists with options:
      | maxQueueSize     | 1              |
      | overflowStrategy | BlockPublisher |
    And publisher A publishes messages "m1, m2" to queue "orders"
    When publisher B publishes message "m2" to queue "orders"
    Then message "m1" is confirmed to publisher A
    And message "m2" is not confirmed to publisher A
    And message "m2" is not confirmed to publisher B
    When the subscriber subscribes to queue "orders"
    Then message "m2" is confirmed to publisher A
    And message "m2" is confirmed to publisher B
    And the subscriber receives messages "m1, m2"
