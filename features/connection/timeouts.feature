Feature: Timeouts
  A broker closes connections whose client does not send a Connect, the rest of a frame, or any byte in time.

  @CONN-014
  Scenario: A connection without a Connect is closed
    Given a broker with these settings:
      | handshakeTimeout | 10 s |
    And the client has opened a connection
    When 1 s passes
    Then the connection of the client is open
    When 9 s pass
    Then the broker closes the connection of the client

  @CONN-015
  Scenario: A Connect stops the handshake timeout
    Given a broker with these settings:
      | handshakeTimeout | 10 s |
    And the client is connected
    When 11 s pass
    Then the connection of the client stays open

  @CONN-015
  Scenario: A Connect that is refused stops the handshake timeout too
    Given a broker with these settings:
      | handshakeTimeout | 10 s |
    And the client has opened a connection
    When the client sends a Connect with id "first" for queue "not a name"
    Then the client receives Error INVALID_MESSAGE with id "first"
    When 11 s pass
    And the client sends a Connect with id "second"
    Then the client receives a ConnectAck with id "second"

  @CONN-014
  Scenario: A Ping does not stop the handshake timeout
    Given a broker with these settings:
      | handshakeTimeout | 10 s |
    And the client has opened a connection
    When 1 s passes
    And the client sends a Ping with id "ping-1"
    And 9 s pass
    Then the client receives a Pong with id "ping-1"
    And the broker closes the connection of the client

  @CONN-016
  Scenario: A frame that is not completed in time closes the connection
    Given a broker with these settings:
      | frameTimeout | 10 s |
    And the client is connected
    When the client sends the first 20 bytes of a Ping with id "never completed"
    And 10 s pass
    Then the broker closes the connection of the client

  @CONN-016 @FRAME-015
  Scenario: A frame that is completed in time is served
    Given a broker with these settings:
      | frameTimeout | 10 s |
    And the client is connected
    When the client sends the first 20 bytes of a Ping with id "a rather slow one"
    And 1 s passes
    And the client sends the rest
    Then the client receives a Pong with id "a rather slow one"
    When 10 s pass
    Then the connection of the client stays open

  @CONN-017
  Scenario: A connection on which the client sends nothing is closed
    Given a broker with these settings:
      | idleTimeout | 15 s |
    And the client is connected
    When 2 s pass
    Then the connection of the client is open
    When 13 s pass
    Then the broker closes the connection of the client

  @CONN-017
  Scenario: A connection on which only the broker sends is closed
    Given a broker with these settings:
      | idleTimeout | 15 s |
    And the subscriber subscribes to queue "orders"
    When 8 s pass
    And the publisher publishes message "m1" to queue "orders"
    Then the subscriber receives message "m1"
    When 8 s pass
    Then the broker closes the connection of the subscriber

  @CONN-017
  Scenario: A Ping restarts the idle timeout
    Given a broker with these settings:
      | idleTimeout | 15 s |
    And the client is connected
    When 8 s pass
    And the client sends a Ping with id "ping-1"
    And 8 s pass
    Then the client receives a Pong with id "ping-1"
    And the connection of the client is open
