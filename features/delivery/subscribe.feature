Feature: Subscribing
  A subscriber receives the messages of a queue from SubscribeAck until UnsubscribeAck or the end of its connection.

  @CONN-006 @CONN-010
  Scenario: A subscription is confirmed
    Given the subscriber is connected
    When the subscriber sends a Subscribe with id "sub" for queue "orders"
    Then the subscriber receives a SubscribeAck with id "sub" and queue "orders"

  @DELIVERY-010 @DELIVERY-034 @DELIVERY-035
  Scenario: Waiting messages are delivered when a subscription starts
    Given the publisher publishes messages "m1 to m5" to queue "orders"
    Then queue "orders" has 5 waiting messages
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m1 to m5"

  @RETRY-015 @DELIVERY-035
  Scenario: Messages are delivered to a subscriber immediately, in their order
    Given the subscriber subscribes to queue "orders"
    When the publisher publishes messages "m1 to m5" to queue "orders"
    Then the subscriber receives messages "m1 to m5"
    And queue "orders" has 0 waiting messages

  @DELIVERY-037
  Scenario: Messages of several publishers are delivered in the order of their PublishAcks
    When publisher A publishes messages "a1, a2" to queue "orders"
    And publisher B publishes message "b1" to queue "orders"
    And publisher A publishes message "a3" to queue "orders"
    And publisher B publishes message "b2" to queue "orders"
    And the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "a1, a2, b1, a3, b2"

  @DELIVERY-051
  Scenario: A subscriber receives the messages of its queues only
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
  Scenario: After Unsubscribe no message is delivered
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
  Scenario: Messages in flight at an Unsubscribe may still be acknowledged
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the subscriber unsubscribes from queue "orders"
    And the subscriber acknowledges message "m1"
    And the subscriber disconnects
    Then queue "orders" has 0 waiting messages

  @DELIVERY-069
  Scenario: Unsubscribing from one queue does not change other subscriptions
    Given the subscriber subscribes to queue "orders"
    And the subscriber subscribes to queue "payments"
    When the subscriber unsubscribes from queue "orders"
    And the publisher publishes message "m1" to queue "payments"
    Then the subscriber receives message "m1"
