Feature: Messages in the dashboard
  An operator looks into queues and takes messages out of them over HTTP, while publishers and subscribers go on.

  @DASH-008
  Scenario: Looking at messages takes nothing out of the queue
    Given the publisher publishes messages "m1 to m3" to queue "orders"
    When an operator lists the messages of queue "orders"
    Then the operator sees messages "m1 to m3"
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m1 to m3"

  @DASH-009 @DASH-021
  Scenario: A listed message has its payload and its headers
    Given the publisher publishes message "m1" to queue "orders" with headers:
      | kind | express |
    When an operator looks at message "m1" of queue "orders"
    Then the HTTP status is 200
    And the operator sees header "kind" "express"

  @DASH-010 @DASH-011
  Scenario: Messages are listed page by page
    Given the publisher publishes messages "m1 to m60" to queue "orders"
    When an operator lists the messages of queue "orders"
    Then the operator sees messages "m1 to m50"
    When an operator lists the messages of queue "orders" with limit 5 and offset 50
    Then the operator sees messages "m51 to m55"

  @DASH-015 @DASH-017
  Scenario: A message in flight is shown, and cannot be removed
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When an operator looks at message "m1" of queue "orders"
    Then the HTTP status is 200
    When an operator removes message "m1" from queue "orders"
    Then the HTTP status is 404

  @DASH-016 @DASH-022
  Scenario: One message is removed
    Given the publisher publishes messages "m1 to m3" to queue "orders"
    When an operator removes message "m2" from queue "orders"
    Then the HTTP status is 204
    When an operator lists the messages of queue "orders"
    Then the operator sees messages "m1, m3"

  @DASH-040
  Scenario: A page of another origin removes nothing
    Given the publisher publishes message "m1" to queue "orders"
    When a page of "https://elsewhere.example" removes message "m1" from queue "orders"
    Then the HTTP status is 403
    When an operator lists the messages of queue "orders"
    Then the operator sees message "m1"

  @DASH-018 @DASH-019 @DELIVERY-005
  Scenario: A purge removes what waits, and leaves what is in flight
    Given the publisher publishes messages "m1 to m3" to queue "orders"
    And the subscriber subscribes to queue "orders" for at most 1 message at a time
    And the subscriber receives message "m1"
    When an operator purges queue "orders"
    Then the HTTP status is 204
    And queue "orders" has 0 waiting messages
    When the subscriber disconnects
    And another client subscribes to queue "orders"
    Then another client receives message "m1"
    And another client receives no further message

  @DASH-020
  Scenario: A queue is deleted with its messages
    Given the publisher publishes message "m1" to queue "orders"
    When an operator deletes queue "orders"
    Then the HTTP status is 204
    When an operator lists the messages of queue "orders"
    Then the HTTP status is 404
    And the answer is a problem document

  @DASH-032 @DASH-033
  Scenario: A dead letter goes back to the end of its queue
    Given queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    And the subscriber refuses message "m1" with reason DeserializationError
    And the subscriber disconnects
    And the publisher publishes message "m2" to queue "orders"
    When an operator requeues message "m1" of queue "orders.dlq"
    Then the HTTP status is 204
    When an operator lists the messages of queue "orders"
    Then the operator sees messages "m2, m1"

  @DASH-034
  Scenario: A message that is no dead letter is not requeued
    Given the publisher publishes message "m1" to queue "orders"
    When an operator requeues message "m1" of queue "orders"
    Then the HTTP status is 409
    And the answer is a problem document
