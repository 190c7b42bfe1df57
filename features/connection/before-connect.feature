Feature: Commands before the handshake
  Before a successful Connect, the broker carries out no command except Connect, Ping and Disconnect.

  @CONN-001 @CONN-002 @CONN-008
  Scenario Outline: <command> is refused
    Given the client has opened a connection
    When the client sends a <command> with id "too early" for queue "orders"
    Then the client receives Error NOT_AUTHENTICATED with id "too early"
    And queue "orders" does not exist

    Examples:
      | command     |
      | Publish     |
      | Subscribe   |
      | Unsubscribe |
      | CreateQueue |
      | DeleteQueue |
      | QueueInfo   |
      | ListQueues  |
      | Ack         |

  @CONN-001
  Scenario: A queue is not deleted before the handshake
    Given queue "orders" exists
    And the client has opened a connection
    When the client sends a DeleteQueue with id "too early" for queue "orders"
    Then the client receives Error NOT_AUTHENTICATED with id "too early"
    And queue "orders" still exists

  @CONN-018 @CONN-020
  Scenario: Ping is answered
    Given the client has opened a connection
    When the client sends a Ping with id "anybody there?"
    Then the client receives a Pong with id "anybody there?"

  @CONN-004
  Scenario: Disconnect closes the connection
    Given the client has opened a connection
    When the client disconnects
    Then the broker closes the connection of the client
    And the client has received nothing
