Feature: The window
  The window limits the messages in flight of a subscription. It starts small, grows with every quick acknowledgment and halves at
  an ack timeout, so that a slow subscriber does not receive messages that it cannot acknowledge in time.

  @DELIVERY-042
  Scenario: The window is 8 messages at first
    Given the publisher publishes messages "m1 to m20" to queue "orders"
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m1 to m8"
    And queue "orders" has 12 waiting messages

  @DELIVERY-043
  Scenario: A quick acknowledgment makes room for two messages
    Given the publisher publishes messages "m1 to m20" to queue "orders"
    And the subscriber subscribes to queue "orders"
    And the subscriber receives messages "m1 to m8"
    When the subscriber acknowledges message "m1"
    Then the subscriber receives messages "m9, m10"
    When the subscriber acknowledges messages "m2, m3"
    Then the subscriber receives messages "m11 to m14"

  @DELIVERY-043
  Scenario: A slow acknowledgment makes room for one message
    Given a broker with these settings:
      | ackTimeout | 20 s |
    And the publisher publishes messages "m1 to m20" to queue "orders"
    And the subscriber subscribes to queue "orders"
    And the subscriber receives messages "m1 to m8"
    When 6 s pass
    And the subscriber acknowledges message "m1"
    Then the subscriber receives message "m9"
    And the subscriber receives no further message

  @DELIVERY-045
  Scenario: The window has a limit
    Given a broker with these settings:
      | maxInFlightPerSubscriber | 3 |
    And the publisher publishes messages "m1 to m9" to queue "orders"
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m1 to m3"
    When the subscriber acknowledges messages "m1, m2"
    Then the subscriber receives messages "m4, m5"

  @DELIVERY-046
  Scenario: A subscriber may set a fixed window
    Given the publisher publishes messages "m1 to m20" to queue "orders"
    When the subscriber subscribes to queue "orders" for at most 2 messages at a time
    Then the subscriber receives messages "m1, m2"
    When the subscriber acknowledges message "m1"
    Then the subscriber receives message "m3"
    And the subscriber receives no further message

  @DELIVERY-042
  Scenario: Each subscription has its own window
    Given the publisher publishes messages "m1 to m4" to queue "orders"
    And the publisher publishes messages "p1 to p4" to queue "payments"
    When the subscriber subscribes to queue "orders" for at most 2 messages at a time
    And the subscriber subscribes to queue "payments" for at most 3 messages at a time
    Then the subscriber receives messages "m1, m2, p1 to p3"

  @DELIVERY-044
  Scenario: An ack timeout halves the window
    Given a broker with these settings:
      | ackTimeout | 3 s   |
      | retryDelay | 100 s |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When 4 s pass
    And the subscriber acknowledges message "m1"
    And the publisher publishes messages "n1 to n10" to queue "orders"
    Then the subscriber receives messages "n1 to n4"

  @DELIVERY-044
  Scenario: The window is at least one message
    Given a broker with these settings:
      | ackTimeout | 3 s   |
      | retryDelay | 100 s |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes messages "m1 to m8" to queue "orders"
    And the subscriber receives messages "m1 to m8"
    When 4 s pass
    And the subscriber acknowledges messages "m1 to m8"
    And the publisher publishes messages "n1 to n3" to queue "orders"
    Then the subscriber receives message "n1"
    And the subscriber receives no further message
