Feature: RoundRobin
  The broker delivers each message to one subscriber; the subscribers take turns.

  @DELIVERY-011 @DELIVERY-012 @DELIVERY-013
  Scenario: Subscribers take turns in the order in which they subscribed
    Given subscriber A subscribes to queue "orders"
    And subscriber B subscribes to queue "orders"
    And subscriber C subscribes to queue "orders"
    When the publisher publishes messages "m1 to m3" to queue "orders"
    Then subscriber A receives message "m1"
    And subscriber B receives message "m2"
    And subscriber C receives message "m3"
    And subscriber A receives no further message
    And subscriber B receives no further message

  @DELIVERY-011 @DELIVERY-013
  Scenario: The turns continue after the last subscriber
    Given subscriber A subscribes to queue "orders"
    And subscriber B subscribes to queue "orders"
    When the publisher publishes messages "m1 to m5" to queue "orders"
    Then subscriber A receives messages "m1, m3, m5"
    And subscriber B receives messages "m2, m4"

  @DELIVERY-011
  Scenario: A subscriber that has left is skipped
    Given subscriber A subscribes to queue "orders"
    And subscriber B subscribes to queue "orders"
    And subscriber C subscribes to queue "orders"
    When subscriber B unsubscribes from queue "orders"
    And the publisher publishes messages "m1, m2" to queue "orders"
    Then subscriber A receives message "m1"
    And subscriber C receives message "m2"
    And subscriber B receives no message

  @DELIVERY-049
  Scenario: A subscriber that does not acknowledge does not delay others
    Given subscriber A subscribes to queue "orders" for at most 1 message at a time
    And subscriber B subscribes to queue "orders"
    When the publisher publishes messages "m1 to m6" to queue "orders"
    Then subscriber A receives message "m1"
    And subscriber B receives messages "m2 to m6"

  @DELIVERY-011
  Scenario: One client may subscribe to several queues
    Given subscriber A subscribes to queue "orders"
    And subscriber A subscribes to queue "payments"
    And subscriber B subscribes to queue "orders"
    When the publisher publishes messages "m1, m2" to queue "orders"
    And the publisher publishes message "p1" to queue "payments"
    Then subscriber A receives messages "m1, p1"
    And subscriber B receives message "m2"
