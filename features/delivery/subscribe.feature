Feature: Subscribing
  A subscriber gets the messages of a queue from SubscribeAck to UnsubscribeAck, or to the end of its connection.

  @CONN-006 @CONN-010
  Scenario: A subscription is confirmed
    Given the subscriber is connected
    When the subscriber sends a Subscribe with id "sub" for queue "orders"
    Then the subscriber receives a SubscribeAck with id "sub" and queue "orders"

  @DELIVERY-010 @DELIVERY-034 @DELIVERY-035
  Scenario: Messages that wait are delivered when a subscriber comes
    Given the publisher publishes messages "m1 to m5" to queue "orders"
    Then queue "orders" has 5 waiting messages
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m1 to m5"

  @RETRY-015 @DELIVERY-035
  Scenario: With a subscriber, messages are delivered at once, in their order
    Given the subscriber subscribes to queue "orders"
    When the publisher publishes messages "m1 to m5" to queue "orders"
    Then the subscriber receives messages "m1 to m5"
    And queue "orders" has 0 waiting messages

  @DELIVERY-037
  Scenario: Messages of several publishers come in the order of their confirmations
    When publisher A publishes messages "a1, a2" to queue "orders"
    And publisher B publishes message "b1" to queue "orders"
    And publisher A publishes message "a3" to queue "orders"
    And publisher B publishes message "b2" to queue "orders"
    And the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "a1, a2, b1, a3, b2"

  @DELIVERY-051
  Scenario: A subscriber gets the messages of its queues only
    Given the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" to queue "payments"
    And the publisher publishes message "m2" to queue "orders"
    Then the subscriber receives message "m2"
    And the subscriber receives no further message

  @DELIVERY-064
  Scenario: A second Subscribe to the same queue changes nothing
    Given the subscriber subscribes to queue "orders"
    When the subscriber sends a Subscribe with id "again" for queue "orders"
    Then the subscriber receives a SubscribeAck with id "again"
    And queue "orders" has 1 subscriber
    When the publisher publishes message "m1" to queue "orders"
    Then the subscriber receives message "m1"
    And the subscriber receives no further message

  @DELIVERY-061 @DELIVERY-069 @CONN-010
  Scenario: After Unsubscribe nothing is delivered any more
    Given the subscriber subscribes to queue "orders"
    When the subscriber sends an Unsubscribe with id "unsub" for queue "orders"
    Then the subscriber receives an UnsubscribeAck with id "unsub" and queue "orders"
    When the publisher publishes message "m1" to queue "orders"
    Then the subscriber receives no message
    And queue "orders" has 1 waiting message

  @DELIVERY-063
  Scenario: Unsubscribe without a subscription is confirmed
    Given the subscriber is connected
    When the subscriber sends an Unsubscribe with id "unsub" for queue "orders"
    Then the subscriber receives an UnsubscribeAck with id "unsub"

  @DELIVERY-062
  Scenario: What is in flight at an Unsubscribe may still be acknowledged
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the subscriber unsubscribes from queue "orders"
    And the subscriber acknowledges message "m1"
    And the subscriber disconnects
    Then queue "orders" has 0 waiting messages

  @DELIVERY-061
  Scenario: Unsubscribing from one queue leaves the others
    Given the subscriber subscribes to queue "orders"
    And the subscriber subscribes to queue "payments"
    When the subscriber unsubscribes from queue "orders"
    And the publisher publishes message "m1" to queue "payments"
    Then the subscriber receives message "m1"
