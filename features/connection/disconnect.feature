Feature: Disconnect
  A client sends Disconnect before it leaves. The broker answers the earlier commands and closes the connection.

  @CONN-024 @CONN-036
  Scenario: Disconnect closes the connection without an answer
    Given the client is connected
    When the client disconnects
    Then the broker closes the connection of the client
    And the client has received nothing

  @CONN-025 @CONN-031
  Scenario: Answers to earlier commands are still sent
    Given the publisher is connected
    When the publisher sends in one piece:
      | command    | id   | queue  |
      | Publish    | m1   | orders |
      | Publish    | m2   | orders |
      | Disconnect | bye  |        |
    Then the publisher receives in this order:
      | command    | id |
      | PublishAck | m1 |
      | PublishAck | m2 |
    And the broker closes the connection of the publisher
    And queue "orders" has 2 waiting messages

  @CONN-024 @CONN-031
  Scenario: Commands after a Disconnect are not carried out
    Given the publisher is connected
    When the publisher sends in one piece:
      | command    | id  | queue  |
      | Disconnect | bye |        |
      | Publish    | m1  | orders |
    Then the broker closes the connection of the publisher
    And the publisher has received nothing
    And queue "orders" does not exist

  @CONN-024 @QUEUE-026 @DELIVERY-069
  Scenario: A subscription ends with its connection
    Given the subscriber subscribes to queue "orders"
    When the subscriber disconnects
    Then the broker closes the connection of the subscriber
    And queue "orders" has 0 subscribers

  @CONN-041
  Scenario: A client that ends its side without a Disconnect gets its answers
    Given the publisher is connected
    When the publisher sends in one piece and ends its side of the connection:
      | command | id | queue  |
      | Publish | m1 | orders |
      | Publish | m2 | orders |
      | Ping    | p  |        |
    Then the publisher receives in this order:
      | command    | id |
      | PublishAck | m1 |
      | PublishAck | m2 |
      | Pong       | p  |
    And the broker closes the connection of the publisher
    And queue "orders" has 2 waiting messages
