Feature: Listing queues
  ListQueues answers with the names of all queues.

  @QUEUE-028 @CONN-006
  Scenario: The answer is a list of names
    Given the client is connected
    When the client sends a ListQueues with id "list"
    Then the client receives a list of queues with id "list"

  @QUEUE-028
  Scenario: Queues are listed from their creation to their deletion
    Given queue "orders" exists
    And queue "payments" exists
    Then the list of queues is "orders, payments"
    When the client deletes queue "orders"
    Then the list of queues is "payments"

  @QUEUE-028 @QUEUE-044 @QUEUE-047
  Scenario: Auto-created queues are listed too
    When the publisher publishes message "m1" to queue "orders"
    And the subscriber subscribes to queue "payments"
    Then the list of queues is "orders, payments"

  @QUEUE-028 @DLQ-004
  Scenario: A dead letter queue is listed like other queues
    Given queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    Then the list of queues is "orders, orders.dlq"
