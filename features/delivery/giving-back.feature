Feature: Messages are given back
  When a subscriber's connection ends, its unacknowledged messages wait again, in their previous places, for other subscribers.

  @DELIVERY-038 @DELIVERY-006
  Scenario: Messages in flight are delivered to another subscriber
    Given subscriber A subscribes to queue "orders"
    And the publisher publishes messages "m1 to m3" to queue "orders"
    And subscriber A receives messages "m1 to m3"
    And subscriber A acknowledges message "m2"
    And subscriber B subscribes to queue "orders"
    When the connection of subscriber A breaks
    Then subscriber B receives messages "m1, m3"

  @DELIVERY-038
  Scenario: Messages that are given back wait if there is no other subscriber
    Given subscriber A subscribes to queue "orders"
    And the publisher publishes messages "m1 to m3" to queue "orders"
    When subscriber A disconnects
    Then queue "orders" has 3 waiting messages

  @DELIVERY-039
  Scenario: Messages that are given back return to their previous places
    Given subscriber A subscribes to queue "orders" for at most 2 messages at a time
    And the publisher publishes messages "m1 to m4" to queue "orders"
    And subscriber A receives messages "m1, m2"
    When subscriber A disconnects
    And subscriber B subscribes to queue "orders"
    Then subscriber B receives messages "m1 to m4"

  @DELIVERY-055
  Scenario: A message that is given back has header deliveryAttempts
    Given subscriber A subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And subscriber A receives message "m1"
    When subscriber A disconnects
    And subscriber B subscribes to queue "orders"
    Then subscriber B receives message "m1" again, with header "deliveryAttempts" "2"

  @DELIVERY-040
  Scenario: An interrupted delivery is not a failed attempt
    Given queue "orders" exists with options:
      | maxRetryAttempts | 1 |
    And subscriber A subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And subscriber A receives message "m1"
    When the connection of subscriber A breaks
    And subscriber B subscribes to queue "orders"
    Then subscriber B receives message "m1"

  @QUEUE-029 @QUEUE-030
  Scenario: Messages that are given back may exceed the size of the queue
    Given queue "orders" exists with options:
      | maxQueueSize     | 2          |
      | overflowStrategy | DropNewest |
    And subscriber A subscribes to queue "orders" for at most 2 messages at a time
    And the publisher publishes messages "m1 to m4" to queue "orders"
    When subscriber A disconnects
    Then queue "orders" has 4 waiting messages
    When the publisher publishes message "m5" to queue "orders"
    Then messages "m1 to m4" are confirmed to the publisher
    And message "m5" of the publisher is refused with QUEUE_FULL
