Feature: Deleting a queue
  Deleting a queue removes it and its messages. Its subscriptions stay registered for a new queue of that name.

  @QUEUE-014 @CONN-006
  Scenario: A queue is deleted with its messages
    Given the publisher publishes messages "m1, m2" to queue "orders"
    And the client is connected
    When the client sends a DeleteQueue with id "delete" for queue "orders"
    Then the client receives a DeleteQueue with id "delete"
    And queue "orders" does not exist
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives no message

  @QUEUE-015
  Scenario: Deleting a queue that does not exist succeeds
    When the client deletes queue "orders"
    Then the command succeeds

  @QUEUE-016 @QUEUE-026
  Scenario: Subscriptions continue when a queue of that name is created again
    Given the subscriber subscribes to queue "orders"
    When the client deletes queue "orders"
    And the client creates queue "orders"
    Then queue "orders" has 1 subscriber
    When the publisher publishes message "m1" to queue "orders"
    Then the subscriber receives message "m1"

  @QUEUE-017 @QUEUE-018
  Scenario: Messages in flight are removed, and late acks are ignored
    Given the publisher publishes message "m1" to queue "orders"
    And subscriber A subscribes to queue "orders"
    And subscriber A receives message "m1"
    When the client deletes queue "orders"
    And subscriber A acknowledges message "m1"
    And the client creates queue "orders"
    And subscriber A disconnects
    And subscriber B subscribes to queue "orders"
    Then subscriber B receives no message
    And queue "orders" has 0 waiting messages

  @QUEUE-020
  Scenario: The dead letter queue of a deleted queue is not deleted
    Given queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    When the client deletes queue "orders"
    Then queue "orders" does not exist
    And queue "orders.dlq" still exists

  @QUEUE-019
  Scenario: A blocked publish is refused
    Given queue "orders" exists with options:
      | maxQueueSize     | 1              |
      | overflowStrategy | BlockPublisher |
    And the publisher publishes messages "m1, m2" to queue "orders"
    When the client deletes queue "orders"
    Then message "m1" is confirmed to the publisher
    And message "m2" of the publisher is refused with QUEUE_NOT_FOUND
