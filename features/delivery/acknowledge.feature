Feature: Acknowledging
  The broker keeps a message until its subscriber acknowledges it. It does not answer Ack.

  @DELIVERY-001 @CONN-036 @DELIVERY-065
  Scenario: An acknowledged message is removed
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the subscriber acknowledges message "m1"
    And the subscriber disconnects
    Then queue "orders" has 0 waiting messages
    When another client subscribes to queue "orders"
    Then another client receives no message

  @DELIVERY-001
  Scenario: A message that is not acknowledged is not removed
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the subscriber disconnects
    Then queue "orders" has 1 waiting message

  @CONN-036 @DELIVERY-058
  Scenario: An ack for an unknown message is ignored
    Given the client is connected
    When the client acknowledges message "never seen"
    Then the client has received nothing
    And the connection of the client stays open

  @DELIVERY-059
  Scenario: A repeated ack is ignored
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes messages "m1, m2" to queue "orders"
    And the subscriber receives messages "m1, m2"
    When the subscriber acknowledges messages "m1, m1"
    And the subscriber disconnects
    Then queue "orders" has 1 waiting message
    When another client subscribes to queue "orders"
    Then another client receives message "m2"

  @DELIVERY-057
  Scenario: An ack from another connection is ignored
    Given subscriber A subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And subscriber A receives message "m1"
    When client B acknowledges message "m1"
    And subscriber A disconnects
    Then queue "orders" has 1 waiting message

  @DELIVERY-066
  Scenario: An ack may name its message in a header
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the subscriber acknowledges message "m1" by header messageId
    And the subscriber disconnects
    Then queue "orders" has 0 waiting messages

  @DELIVERY-067
  Scenario: An ack that names a queue settles a delivery of that queue only
    Given the subscriber subscribes to queue "orders"
    And the subscriber subscribes to queue "payments"
    And the publisher publishes message "m1" to queue "orders"
    And the publisher publishes message "m1" to queue "payments"
    And the subscriber receives messages "m1, m1"
    When the subscriber acknowledges message "m1" of queue "payments"
    And the subscriber disconnects
    Then queue "orders" has 1 waiting message
    And queue "payments" has 0 waiting messages

  @DELIVERY-068
  Scenario: An ack settles the oldest of several deliveries with the same id
    Given the subscriber subscribes to queue "orders"
    And the subscriber subscribes to queue "payments"
    And the publisher publishes message "m1" to queue "orders"
    And the publisher publishes message "m1" to queue "payments"
    And the subscriber receives messages "m1, m1"
    When the subscriber acknowledges message "m1"
    And the subscriber disconnects
    Then queue "orders" has 0 waiting messages
    And queue "payments" has 1 waiting message
