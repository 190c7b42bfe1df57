Feature: Keep-alive
  A client sends Ping, and the broker answers Pong without waiting for other clients.

  @CONN-019 @CONN-020 @CONN-006
  Scenario: Ping is answered by Pong
    Given the client is connected
    When the client sends a Ping with id "ping-1"
    Then the client receives a Pong with id "ping-1"

  @CONN-020
  Scenario: Every Ping has its own Pong
    Given the client is connected
    When the client sends in one piece:
      | command | id     |
      | Ping    | ping-1 |
      | Ping    | ping-2 |
      | Ping    | ping-3 |
    Then the client receives in this order:
      | command | id     |
      | Pong    | ping-1 |
      | Pong    | ping-2 |
      | Pong    | ping-3 |

  @CONN-021
  Scenario: Pong does not wait for a client that has sent half a frame
    Given another client has sent the first 3 bytes of a Publish of message "m1" to queue "orders"
    When the client sends a Ping with id "ping-1"
    Then the client receives a Pong with id "ping-1"

  @CONN-021
  Scenario: Pong does not wait for a subscriber that does not read
    Given subscriber A subscribes to queue "orders"
    And subscriber A stops reading
    When the publisher publishes messages "m1 to m20" of 64 KiB each to queue "orders"
    And the publisher sends a Ping with id "ping-1"
    Then the publisher receives a Pong with id "ping-1"

  @CONN-022 @OVERFLOW-016
  Scenario: Ping is answered while a publish of the same connection is blocked
    Given queue "orders" exists with options:
      | maxQueueSize     | 1              |
      | overflowStrategy | BlockPublisher |
    And the publisher publishes message "m1" to queue "orders"
    When the publisher publishes message "m2" to queue "orders"
    And the publisher sends a Ping with id "ping-1"
    Then the publisher receives a Pong with id "ping-1"
    And message "m2" is not confirmed to the publisher
