Feature: The handshake
  A client opens a connection and sends Connect. The broker accepts it with ConnectAck, and then serves all commands.

  @CONN-005 @CONN-006 @CONN-007
  Scenario: A Connect is accepted
    Given the client has opened a connection
    When the client sends a Connect with id "hello"
    Then the client receives a ConnectAck with id "hello"
    And the connection of the client stays open

  @CONN-037
  Scenario: ConnectAck contains the version of the broker and the id of the connection
    Given the client has opened a connection
    When the client sends a Connect with id "hello"
    Then the client receives a ConnectAck with a value in each of these headers:
      | serverVersion |
      | connectionId  |

  @CONN-039 @NACK-002 @DELIVERY-047
  Scenario: ConnectAck lists the capabilities of the broker
    Given the client has opened a connection
    When the client sends a Connect with id "hello"
    Then the client receives a ConnectAck whose header "capabilities" lists "nack" and "maxInFlight"

  @CONN-038
  Scenario: Headers that the broker does not know are ignored
    Given the client has opened a connection
    When the client sends a Connect with id "hello" and headers:
      | clientVersion | 1.8.0           |
      | favoriteColor | blue            |
    Then the client receives a ConnectAck with id "hello"

  @AUTH-007
  Scenario: Credentials of a kind that is not configured are ignored
    Given the client has opened a connection
    When the client sends a Connect with id "hello" and headers:
      | authToken    | a-token-of-thirty-two-characters |
      | authUsername | ada                              |
      | authPassword | secret                           |
    Then the client receives a ConnectAck with id "hello"

  @CONN-011 @CONN-012
  Scenario Outline: A protocol version that the broker does not support is refused
    Given the client has opened a connection
    When the client sends a Connect of protocol version <version> with id "hello"
    Then the client receives Error UNSUPPORTED_VERSION with id "hello"
    And the broker closes the connection of the client

    Examples:
      | version |
      | 0       |
      | 2       |
      | 255     |

  @CONN-013
  Scenario: After the handshake the version byte is ignored
    Given the client is connected
    When the client sends a Ping of protocol version 7 with id "still there?"
    Then the client receives a Pong with id "still there?"

  @CONN-029
  Scenario: A second Connect is refused
    Given the client is connected
    When the client sends a Connect with id "again"
    Then the client receives Error INVALID_MESSAGE with id "again"
    And the connection of the client stays open

  @CONN-030
  Scenario: A second Connect changes nothing
    Given the subscriber subscribes to queue "orders"
    When the subscriber sends a Connect with id "again" and headers:
      | supported-compression | gzip |
    And the publisher publishes message "m1" of 4 KiB to queue "orders"
    Then the subscriber receives Error INVALID_MESSAGE with id "again"
    And the subscriber receives message "m1" uncompressed

  @CONN-003
  Scenario: After a refused command the client can still connect
    Given the client has opened a connection
    When the client sends a ListQueues with id "too early"
    And the client sends a Connect with id "hello"
    And the client sends a ListQueues with id "in time"
    Then the client receives Error NOT_AUTHENTICATED with id "too early"
    And the client receives a ConnectAck with id "hello"
    And the client receives a ListQueues with id "in time"
