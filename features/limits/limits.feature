Feature: Limits
  There are limits for what a client can make a broker do and store. A client that reaches a limit receives an Error.

  @LIMIT-001 @LIMIT-002 @LIMIT-003
  Scenario: A publish over the rate is refused, and the connection stays open
    Given a broker that accepts 3 messages per client and second
    And the publisher is connected
    When the publisher sends in one piece:
      | command | id | queue  |
      | Publish | m1 | orders |
      | Publish | m2 | orders |
      | Publish | m3 | orders |
      | Publish | m4 | orders |
    Then messages "m1 to m3" are confirmed to the publisher
    And message "m4" of the publisher is refused with RATE_LIMITED
    And the connection of the publisher stays open
    And queue "orders" has 3 waiting messages

  @LIMIT-020
  Scenario: The rates of two clients are independent
    Given a broker that accepts 3 messages per client and second
    And publisher A is connected
    And publisher B is connected
    When publisher A sends in one piece:
      | command | id | queue  |
      | Publish | a1 | orders |
      | Publish | a2 | orders |
      | Publish | a3 | orders |
      | Publish | a4 | orders |
    And publisher B publishes message "b1" to queue "orders"
    Then message "a4" of publisher A is refused with RATE_LIMITED
    And message "b1" is confirmed to publisher B

  @LIMIT-004
  Scenario: Refused publishes count towards the rate
    Given a broker that accepts 3 messages per client and second
    And the publisher is connected
    When the publisher sends in one piece:
      | command | id | queue  |
      | Publish | m1 |        |
      | Publish | m2 |        |
      | Publish | m3 |        |
      | Publish | m4 | orders |
    Then the publisher receives Error INVALID_QUEUE with each of the ids "m1 to m3"
    And message "m4" of the publisher is refused with RATE_LIMITED

  @CONN-023
  Scenario: Acks and pings do not count towards the rate
    Given a broker that accepts 3 messages per client and second
    And the client is connected
    When the client sends in one piece:
      | command | id    | queue  |
      | Ping    | p1    |        |
      | Ping    | p2    |        |
      | Ack     | never |        |
      | Ack     | ever  |        |
      | Publish | m1    | orders |
    Then message "m1" is confirmed to the client
    And the client receives a Pong with id "p1"
    And the client receives a Pong with id "p2"

  @LIMIT-012 @LIMIT-023
  Scenario: The number of connections is limited
    Given a broker with these settings:
      | maxConnections | 2 |
    And client A is connected
    And client B is connected
    When client C has opened a connection
    Then client C receives Error CONNECTION_LIMIT
    And the broker closes the connection of client C
    When client A disconnects
    And client D has opened a connection
    And client D sends a Connect with id "hello"
    Then client D receives a ConnectAck with id "hello"

  @LIMIT-011
  Scenario: Rejected connections do not count towards the limit per address
    Given a broker with these settings:
      | rateLimit                    | on   |
      | maxConnectionsPerIpPerWindow | 2    |
      | connectionWindow             | 10 s |
    And client A has opened a connection
    And client B has opened a connection
    When 6 s pass
    And client C has opened a connection
    Then the broker closes the connection of client C
    When 5 s pass
    And client D has opened a connection
    And client E has opened a connection
    Then the connection of client D stays open
    And the connection of client E stays open

  @LIMIT-013 @LIMIT-014
  Scenario: When the broker holds too many bytes, it refuses publishes and continues to deliver
    Given a broker with these settings:
      | maxQueuedBytes | 100 KiB |
    When the publisher publishes messages "m1 to m3" of 40 KiB each to queue "orders"
    Then messages "m1, m2" are confirmed to the publisher
    And message "m3" of the publisher is refused with MEMORY_LIMIT
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m1, m2"
    When the subscriber acknowledges messages "m1, m2"
    And the publisher publishes message "m4" of 40 KiB to queue "orders"
    Then message "m4" is confirmed to the publisher
    And the subscriber receives message "m4"

  @LIMIT-016
  Scenario: The number of queues is limited
    Given a broker with these settings:
      | maxQueues | 2 |
    And queue "orders" exists
    And queue "payments" exists
    When the client creates queue "returns"
    Then the command is refused with LIMIT_EXCEEDED
    When the publisher publishes message "m1" to queue "returns"
    Then message "m1" of the publisher is refused with LIMIT_EXCEEDED
    And queue "returns" does not exist

  @LIMIT-017
  Scenario: The number of subscriptions of a connection is limited
    Given a broker with these settings:
      | maxSubscriptionsPerConnection | 2 |
    And the subscriber subscribes to queue "orders"
    And the subscriber subscribes to queue "payments"
    When the subscriber subscribes to queue "returns"
    Then the command is refused with LIMIT_EXCEEDED
    And queue "orders" has 1 subscriber
