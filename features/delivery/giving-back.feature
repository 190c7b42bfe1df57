Feature: Messages are given back
  When a subscriber's connection ends, what it had not acknowledged waits again, in its old place, for others.

  @DELIVERY-038 @DELIVERY-006
  Scenario: Another subscriber gets what the first one left
    Given subscriber A subscribes to queue "orders"
    And the publisher publishes messages "m1 to m3" to queue "orders"
    And subscriber A receives messages "m1 to m3"
    And subscriber A acknowledges message "m2"
    And subscriber B subscribes to queue "orders"
    When the connection of subscriber A breaks
    Then subscriber B receives messages "m1, m3"

  @DELIVERY-038
  Scenario: Without another subscriber they wait
    Given subscriber A subscribes to queue "orders"
    And the publisher publishes messages "m1 to m3" to queue "orders"
    When subscriber A disconnects
    Then queue "orders" has 3 waiting messages

  @DELIVERY-039
  Scenario: They take their old places
    Given subscriber A subscribes to queue "orders" for at most 2 messages at a time
    And the publisher publishes messages "m1 to m4" to queue "orders"
    And subscriber A receives messages "m1, m2"
    When subscriber A disconnects
    And subscriber B subscribes to queue "orders"
    Then subscriber B receives messages "m1 to m4"

  @DELIVERY-055
  Scenario: The next subscriber is told that it is not the first
    Given subscriber A subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And subscriber A receives message "m1"
    When subscriber A disconnects
    And subscriber B subscribes to queue "orders"
    Then subscriber B receives message "m1" again, with header "deliveryAttempts" "2"

  @DELIVERY-040
  Scenario: A delivery that was cut short is no failed attempt
    Given queue "orders" exists with options:
      | maxRetryAttempts | 1 |
    And subscriber A subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And subscriber A receives message "m1"
    When the connection of subscriber A breaks
    And subscriber B subscribes to queue "orders"
    Then subscriber B receives message "m1"

  @QUEUE-030 @QUEUE-031
  Scenario: They may fill a queue beyond its size
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
